"""What must work on a simulated NPU, and what must fail and how; `play.py` runs these in a process of a tier."""
