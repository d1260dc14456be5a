"""What the page says whatever the figures are; {names} are facts of the machine and of the run."""

OPENING = """\
# Benchmarks against peers

Same data, same splits, one core: porbnet with its defaults beside other models, each from its own package, used as its
documentation suggests. Nothing is tuned per data set, for anyone. Where a peer is ahead, the page says so, and why. It
is made, with its pictures and [results.json](benchmarks/results.json), from a checkout by

    make bench                          what is missing, then this page; a run that was stopped goes on
    make bench PEERS=porbnet AGAIN=1    porbnet's rows anew

Machine: {processor}, {cores} cores. Libraries may use one thread, and CPU time of all threads is counted; other work
went on beside it. Python {python}, NumPy {numpy}; NumPy's exp {million_exp_per_second} million/s, memory copies
{copy_gb_per_second} GB/s.

Scores are of held-out rows, with outputs divided by their largest deviation. **LLH**: mean log predictive density
(high is good). **CRPS**: continuous ranked probability score (low). **RMSE** of the predictive mean (low). **90 %**:
share within the central 90 % interval. **Fit** and **predict** are CPU seconds, user and system, of the whole
process; imports are left out, and compilation where it can be told apart (not for GPJax). **MB** is peak memory of
the process, libraries included.

A sampler that can be told stops after {seconds:.0f} CPU seconds of a fit, porbnet too; a process is cut at {limit:.0f}
CPU seconds. Figures are means over splits: three of each data set, two of each function, one where rows are counted,
and one throughout for NumPyro, PyMC and GPJax; differences are taken over the splits that both have.

A law that comes as quantiles (boosting) is made a density by uniform pieces and exponential tails; its LLH depends on
that, its CRPS hardly does. Rows of a table are in the order of CRPS; an empty cell is a figure that is still to be run.
"""

ACCURACY = """\
## Accuracy against time

![One panel per problem, one point per model: CRPS against CPU seconds](images/benchmarks-accuracy.png)

On how many of the twelve small problems each model is ahead of porbnet, level with it or behind it (a lead is more than
0.01 in LLH, more than 1 % in CRPS), and its CPU time as a multiple of porbnet's, in the median:

| model | problems | LLH: ahead / level / behind | CRPS: ahead / level / behind | CPU time, of porbnet's |
|---|---|---|---|---|"""

DRAWS = """\
## Effective draws per CPU second

Of f at 20 test points, drawn with each draw: median bulk effective sample size per CPU second of the fit, warm-up
included, compilation not; in brackets the largest R-hat at these points (for a single chain: of its halves). An
effective sample size means little where R-hat is far from one.

![Effective draws per CPU second, by problem and sampler](images/benchmarks-draws.png)
"""

PUBLISHED = """\
## The authors' published figures

Test LLH and RMSE as the paper's tables have them, over the authors' own splits, beside porbnet's on the splits of this
page. The paper's third series is MIMIC's, which cannot be shared; the heart-rate series stands in for it, so that row
compares different data. [The paper's results](paper.md) has 20 splits.

| data | paper's PoRB-NET: LLH, RMSE | paper's BNN: LLH, RMSE | porbnet here: LLH, RMSE |
|---|---|---|---|"""

LIMITS = """\
## What this does not say

Few splits: another split can change an LLH by some hundredths. One or two inputs: nothing here speaks for ten. Peers
can be tuned, and a kernel chosen for the data at hand beats a default one. Where packages compile (JAX, PyTensor,
Numba), a single short fit pays for that too. """
