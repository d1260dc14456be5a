def write(docs): pass
