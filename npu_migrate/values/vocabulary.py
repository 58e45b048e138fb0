"""What calls are called that do the same in every program: log, declare an option, look something up."""

LOGGERS = frozenset(
    "print log debug info warning warn error critical exception write writelines set_description set_postfix "
    "add_scalar add_text title xlabel ylabel label echo secho skipif skip fail input".split()
)
OPTIONS = frozenset("add_argument option add_option argument DEFINE_string DEFINE_enum Option Argument".split())
# Keyword arguments that are shown to people.
TEXTS = frozenset("help msg message reason desc description epilog usage metavar label title".split())
ASSERTIONS = frozenset(
    "assertEqual assertNotEqual assertEquals assertIn assertNotIn assertIs assert_equal assert_not_equal eq_".split()
)
STRING_TESTS = frozenset(
    "startswith endswith replace split rsplit partition removeprefix find index count lstrip strip".split()
)
ATTRIBUTES = frozenset("hasattr getattr setattr delattr".split())
LOOKUPS = frozenset("get pop setdefault getattr setattr getenv".split())
# Packages with devices of their own, which are no devices of PyTorch.
OTHER_LIBRARIES = frozenset(
    "cupy cv2 jax jaxlib keras mindspore mxnet numba onnxruntime oneflow paddle pint taichi tensorflow tvm warp".split()
)
