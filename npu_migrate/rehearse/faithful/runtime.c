/* Stand-ins for the CANN runtime: device memory is host memory, every queue is done at once.
 *
 * Only what torch_npu needs to start, allocate and copy succeeds. Everything that would compute is generated beside
 * this file and returns an error, so that nothing can pass for a result that was never computed.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define OK 0
#define OUT_OF_MEMORY 207001
#define NO_SUCH_DEVICE 107001
#define MAX_DEVICES 64
#define ALIGNMENT 512
#define TOTAL ((size_t)64 << 30)

#define NOT_TIMED 107003
#define TIMED 8

typedef struct {
    struct timespec at;
    uint32_t flags;
} moment;

static __thread int device;
static char contexts[MAX_DEVICES];
static size_t taken[MAX_DEVICES];

static int devices(void)
{
    const char *asked = getenv("NPU_MIGRATE_DEVICES");
    int count = asked ? atoi(asked) : 8;
    return count > MAX_DEVICES ? MAX_DEVICES : count;
}

/* Start and end. */
int aclInit(const char *path) { return OK; }
int aclFinalize(void) { return OK; }
const char *aclGetRecentErrMsg(void) { return NULL; }
const char *aclrtGetSocName(void)
{
    const char *asked = getenv("NPU_MIGRATE_SOC");
    return asked ? asked : "Ascend910B3";
}
int aclrtGetVersion(int *major, int *minor, int *patch) { *major = 1; *minor = 14; *patch = 0; return OK; }
int aclsysGetVersionStr(char *package, char *version) { strcpy(version, "8.5.0"); return OK; }
int aclsysGetCANNVersion(int package, char *version)
{
    memset(version, 0, 128);
    strcpy(version, "8.5.0");
    return OK;
}

/* Devices. */
int aclrtSetDevice(int index)
{
    if (index < 0 || index >= devices()) return NO_SUCH_DEVICE;
    device = index;
    return OK;
}
int aclrtGetDevice(int *index) { *index = device; return OK; }
int aclrtGetDeviceCount(uint32_t *count) { *count = devices(); return OK; }
int aclrtResetDevice(int index) { return OK; }
int aclrtGetCurrentContext(void **context) { *context = &contexts[device]; return OK; }
int aclrtSetCurrentContext(void *context) { device = (char *)context - contexts; return OK; }
int aclrtDeviceCanAccessPeer(int *can, int one, int other) { *can = 1; return OK; }
int aclrtDeviceGetBareTgid(int *process) { *process = getpid(); return OK; }
int aclGetDeviceCapability(int index, int what, long *value) { if (value) *value = 0; return OK; }
int aclGetDeviceInfo(uint32_t index, int what, int64_t *value) { *value = 24; return OK; }
int aclrtGetDeviceInfo(uint32_t index, int what, int64_t *value) { *value = 24; return OK; }
int aclrtGetDeviceResLimit(int index, int what, uint32_t *value) { *value = 24; return OK; }
int aclrtGetSysParamOpt(int what, int64_t *value) { *value = 0; return OK; }
int aclrtSetSysParamOpt(int what, int64_t value) { return OK; }
int aclrtCtxGetSysParamOpt(int what, int64_t *value) { *value = 0; return OK; }
int aclrtCtxSetSysParamOpt(int what, int64_t value) { return OK; }
int aclGetCompileoptSize(int what) { return 256; }
int aclGetCompileopt(int what, char *value, size_t size) { if (size) value[0] = 0; return OK; }

/* Memory. */
int aclrtMalloc(void **place, size_t size, int policy)
{
    *place = NULL;
    if (posix_memalign(place, ALIGNMENT, size ? size : ALIGNMENT)) return OUT_OF_MEMORY;
    __sync_fetch_and_add(&taken[device], size);
    return OK;
}
int aclrtMallocAlign32(void **place, size_t size, int policy) { return aclrtMalloc(place, size, policy); }
int aclrtFree(void *place) { free(place); return OK; }
int aclrtMallocHost(void **place, size_t size)
{
    *place = NULL;
    return posix_memalign(place, ALIGNMENT, size ? size : ALIGNMENT) ? OUT_OF_MEMORY : OK;
}
int aclrtFreeHost(void *place) { free(place); return OK; }
int aclrtMemcpy(void *to, size_t room, const void *from, size_t size, int kind) { memmove(to, from, size); return OK; }
int aclrtMemcpyAsync(void *to, size_t room, const void *from, size_t size, int kind, void *stream)
{
    memmove(to, from, size);
    return OK;
}
int aclrtMemset(void *place, size_t room, int value, size_t size) { memset(place, value, size); return OK; }
int aclrtMemsetAsync(void *place, size_t room, int value, size_t size, void *stream)
{
    memset(place, value, size);
    return OK;
}
int aclrtGetMemInfo(int kind, size_t *available, size_t *total)
{
    *total = TOTAL;
    *available = taken[device] < TOTAL ? TOTAL - taken[device] : 0;
    return OK;
}
int aclrtReserveMemAddress(void **place, size_t size, size_t alignment, void *expected, uint64_t flags)
{
    *place = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return *place == MAP_FAILED ? OUT_OF_MEMORY : OK;
}
int aclrtReleaseMemAddress(void *place) { return OK; }
int aclrtMallocPhysical(void **handle, size_t size, void *properties, uint64_t flags)
{
    *handle = malloc(16);
    return OK;
}
int aclrtFreePhysical(void *handle) { free(handle); return OK; }
int aclrtMapMem(void *place, size_t size, size_t offset, void *handle, uint64_t flags) { return OK; }
int aclrtUnmapMem(void *place) { return OK; }
int aclrtHostRegister(void *place, uint64_t size, int kind, void **seen) { *seen = place; return OK; }
int aclrtPointerGetAttributes(const void *place, void *attributes) { return OK; }

/* Queues and events. */
int aclrtCreateStream(void **stream) { *stream = malloc(16); return OK; }
int aclrtCreateStreamWithConfig(void **stream, uint32_t priority, uint32_t flags) { return aclrtCreateStream(stream); }
int aclrtStreamQuery(void *stream, int *status) { *status = 0; return OK; }
int aclrtGetStreamId(void *stream, int *number) { *number = 0; return OK; }
int aclrtCreateEventWithFlag(void **event, uint32_t flags)
{
    moment *made = calloc(1, sizeof(moment));
    made->flags = flags;
    *event = made;
    return OK;
}
int aclrtCreateEventExWithFlag(void **event, uint32_t flags) { return aclrtCreateEventWithFlag(event, flags); }
int aclrtDestroyEvent(void *event) { free(event); return OK; }
int aclrtRecordEvent(void *event, void *stream)
{
    clock_gettime(CLOCK_MONOTONIC, &((moment *)event)->at);
    return OK;
}
int aclrtQueryEventStatus(void *event, int *status) { *status = 1; return OK; }
int aclrtQueryEventWaitStatus(void *event, int *status) { *status = 0; return OK; }
int aclrtEventElapsedTime(float *milliseconds, void *first, void *second)
{
    const moment *start = first, *end = second;
    if (!(start->flags & end->flags & TIMED)) return NOT_TIMED;
    *milliseconds = (end->at.tv_sec - start->at.tv_sec) * 1e3 + (end->at.tv_nsec - start->at.tv_nsec) / 1e6;
    return OK;
}

/* Asked for by name while running, so that no symbol table lists them. */
#define SETTING(name) int name() { return OK; }
SETTING(aclrtSetDeviceSatMode)
SETTING(aclrtSetStreamOverflowSwitch)
SETTING(aclrtSetStreamFailureMode)
SETTING(aclrtSetOpWaitTimeout)
SETTING(aclrtSetOpExecuteTimeOut)
SETTING(aclrtSetExceptionInfoCallback)
SETTING(aclrtSynchronizeStreamWithTimeout)
SETTING(aclrtSynchronizeDeviceWithTimeout)
SETTING(aclrtSynchronizeEventWithTimeout)
SETTING(aclrtDestroyStreamForce)
SETTING(aclrtDeviceTaskAbort)
SETTING(aclrtHostUnregister)
SETTING(aclrtGetSocVersion)
SETTING(aclrtGetDeviceUtilizationRate)
SETTING(aclSetCompileopt)
