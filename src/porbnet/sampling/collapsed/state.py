"""Step sizes of the collapsed sampler; the state that its moves take is `porbnet.kernels.state.State`."""

from __future__ import annotations

# places in `Tuning.steps`; of the arcs of the updates of a curve one each
STEP_MOVE, STEP_LEVEL_JUMP, STEP_LEVEL, STEP_NOISE, STEP_AMPLITUDE, STEP_ARC, _, _, STEP_CUTS = range(9)
FIRST_STEPS = [1.0, 0.3, 1.0, 0.5, 1.0, 3.0, 3.0, 3.0, 1e-6]
