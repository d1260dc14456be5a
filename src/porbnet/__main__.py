"""`python -m porbnet` is the command `porbnet`."""

from porbnet.cli import main

main()
