// A Vulkan driver in front of another one, REAL_ICD, that makes no pipelines: so Dawn turns WGSL into SPIR-V at once.
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef void (*F)(void);
typedef F (*Lookup)(void *, const char *);
static Lookup ofDevice;

static void *real(const char *name) {
  static void *driver;
  if (!driver) driver = dlopen(getenv("REAL_ICD"), RTLD_NOW | RTLD_LOCAL);
  return dlsym(driver, name);
}

static int create(void *d, uint64_t c, uint32_t n, const void *i, const void *a, uint64_t *out) {
  for (uint32_t k = 0; k < n; k++) out[k] = 1;
  return 0;
}
static void destroy(void *d, uint64_t pipeline, const void *a) {}

static F lookup(void *device, const char *name);
static F own(const char *name) {
  if (!strcmp(name, "vkCreateComputePipelines")) return (F)create;
  if (!strcmp(name, "vkDestroyPipeline")) return (F)destroy;
  return strcmp(name, "vkGetDeviceProcAddr") ? 0 : (F)lookup;
}
static F lookup(void *device, const char *name) { return own(name) ? own(name) : ofDevice(device, name); }

F vk_icdGetInstanceProcAddr(void *instance, const char *name) {
  F found = ((Lookup)real("vk_icdGetInstanceProcAddr"))(instance, name);
  if (found && !strcmp(name, "vkGetDeviceProcAddr")) ofDevice = (Lookup)found;
  return found && own(name) ? own(name) : found;
}
int vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version) {
  return ((int (*)(uint32_t *))real("vk_icdNegotiateLoaderICDInterfaceVersion"))(version);
}
F vk_icdGetPhysicalDeviceProcAddr(void *instance, const char *name) {
  Lookup get = (Lookup)real("vk_icdGetPhysicalDeviceProcAddr");
  return get ? get(instance, name) : 0;
}
