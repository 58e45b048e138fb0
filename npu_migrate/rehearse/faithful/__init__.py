"""The faithful tier: the real torch_npu over stand-ins for the CANN libraries, its kernels run by the executor."""
