"""Step sizes of the collapsed sampler; the state that its moves take is `porbnet.kernels.state.State`."""

from __future__ import annotations

STEP_MOVE, STEP_LEVEL_JUMP, STEP_LEVEL, STEP_NOISE, STEP_AMPLITUDE = range(5)  # places in `Tuning.steps`
FIRST_STEPS = [1.0, 0.3, 1.0, 0.5, 1.0]
