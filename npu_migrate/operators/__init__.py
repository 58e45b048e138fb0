"""What a program calls of torch, and what the target release makes of it."""

from npu_migrate.operators.interest import interesting
from npu_migrate.operators.judge import Kind, Problem, judge, problem_at
from npu_migrate.operators.uses import Use, use_of

__all__ = ["Kind", "Problem", "Use", "interesting", "judge", "problem_at", "use_of"]
