"""Random states: what is accepted, and that blocks do not depend on how many are asked for."""

import numpy as np
import pytest

from porbnet.base.seeds import DRAWS_PER_BLOCK, block_generators, generator, seed_sequence
from porbnet.errors import StatementError


def first_numbers(random_state, n):
    return [rng.random() for rng, _ in block_generators(random_state, n)]


def test_blocks_have_their_own_streams_whatever_the_number(seed):
    few = first_numbers(seed, 2 * DRAWS_PER_BLOCK)
    many = first_numbers(seed, 5 * DRAWS_PER_BLOCK)
    assert many[:2] == few
    assert len(set(many)) == 5


def test_block_sizes_add_up():
    sizes = [wanted for _, wanted in block_generators(0, 2 * DRAWS_PER_BLOCK + 3)]
    assert sizes == [DRAWS_PER_BLOCK, DRAWS_PER_BLOCK, 3]


def test_a_number_and_its_seed_sequence_agree(seed):
    assert first_numbers(seed, 1) == first_numbers(np.random.SeedSequence(seed), 1)
    assert first_numbers(np.int64(seed), 1) == first_numbers(seed, 1)


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_generators_are_reproducible_and_advanced(make, seed):
    one, two = make(seed % 2**31), make(seed % 2**31)
    first = first_numbers(one, 1)
    assert first == first_numbers(two, 1)
    assert first != first_numbers(one, 1)


def test_none_is_different_every_time():
    assert first_numbers(None, 1) != first_numbers(None, 1)


def test_generator_passes_a_generator_through(seed):
    rng = np.random.default_rng(seed)
    assert generator(rng) is rng
    assert generator(seed).random() == generator(seed).random()


@pytest.mark.parametrize("bad", [-1, 1.5, "1", True, [1], object()])
def test_bad_random_states(bad):
    with pytest.raises(StatementError, match="random_state="):
        seed_sequence(bad)
