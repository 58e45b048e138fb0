"""Where a value comes from and where it goes: is the string ``"cuda"`` a device here, a test for one, or only text?"""

from npu_migrate.values.role import Kind, Role
from npu_migrate.values.roles import Roles

__all__ = ["Kind", "Role", "Roles"]
