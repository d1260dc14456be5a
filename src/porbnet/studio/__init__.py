"""A page in the browser to state a prior by hand, drop a file and watch the fit learn: `porbnet studio`.

Three parts that share nothing but messages:

- the page (`static/`), which draws and asks;
- the server (`server`, `doorkeeper`, `pages`), which lets nobody else in, and computes nothing;
- one worker process per page (`worker`, `desk`), which computes, and never sees the network.
"""
