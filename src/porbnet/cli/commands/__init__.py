"""The subcommands of `porbnet`, one file each, named after them."""
