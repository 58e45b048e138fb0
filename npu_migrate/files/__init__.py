def find(*a): return []
