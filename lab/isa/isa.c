// Compiles a compute shader with a Vulkan driver whose GPU is not there, and prints what the driver says of it.
//   isa FILE.spv [--asm]     statistics, one "name = value" a line; --asm adds the machine code
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

#define CHECK(call) do { VkResult r = (call); if (r != VK_SUCCESS) { fprintf(stderr, "%s: VkResult %d\n", #call, r); exit(1); } } while (0)
#define MOST 64

static uint32_t *readWords(const char *path, size_t *bytes) {
  FILE *f = fopen(path, "rb"); if (!f) { perror(path); exit(1); }
  fseek(f, 0, SEEK_END); *bytes = ftell(f); rewind(f);
  uint32_t *words = malloc(*bytes); if (fread(words, 1, *bytes, f) != *bytes) exit(1);
  fclose(f); return words;
}

int main(int argc, char **argv) {
  if (argc < 2) { fprintf(stderr, "usage: isa FILE.spv [--asm]\n"); return 2; }
  size_t bytes; uint32_t *code = readWords(argv[1], &bytes);

  // The bindings: their decorations, and the storage class of their variables (12: storage buffer, 2: uniform).
  struct { uint32_t id, binding, class; int bound; } vars[MOST]; int numVars = 0; char entry[256] = "main"; uint32_t bindings[4096]; memset(bindings, 0xff, sizeof bindings);
  for (size_t i = 5; i < bytes / 4; i += code[i] >> 16) {
    uint32_t op = code[i] & 0xffff;
    if (op == 15) snprintf(entry, sizeof entry, "%s", (char *)&code[i + 3]);
    if (op == 71 && code[i + 2] == 33 && code[i + 1] < 4096) bindings[code[i + 1]] = code[i + 3];
    if (op == 59 && code[i + 2] < 4096 && bindings[code[i + 2]] != 0xffffffff && numVars < MOST) { vars[numVars].id = code[i + 2]; vars[numVars].binding = bindings[code[i + 2]]; vars[numVars++].class = code[i + 3]; }
  }

  VkApplicationInfo app = { VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_3 };
  VkInstance instance; CHECK(vkCreateInstance(&(VkInstanceCreateInfo){ VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &app }, NULL, &instance));
  uint32_t one = 1; VkPhysicalDevice gpu; VkResult found = vkEnumeratePhysicalDevices(instance, &one, &gpu); if (found < 0 || !one) { fprintf(stderr, "no device\n"); return 1; }

  VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR info = { VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR };
  VkPhysicalDeviceVulkan13Features v13 = { VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES, .pNext = &info };
  VkPhysicalDeviceVulkan12Features v12 = { VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, .pNext = &v13 };
  VkPhysicalDeviceVulkan11Features v11 = { VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, .pNext = &v12 };
  VkPhysicalDeviceFeatures2 all = { VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &v11 };
  vkGetPhysicalDeviceFeatures2(gpu, &all);
  const char *extension = VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME; float priority = 1;
  VkDeviceQueueCreateInfo queue = { VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority };
  VkDevice device; CHECK(vkCreateDevice(gpu, &(VkDeviceCreateInfo){ VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, .pNext = &all, .queueCreateInfoCount = 1, .pQueueCreateInfos = &queue, .enabledExtensionCount = 1, .ppEnabledExtensionNames = &extension }, NULL, &device));

  VkDescriptorSetLayoutBinding slots[MOST]; for (int i = 0; i < numVars; i++) slots[i] = (VkDescriptorSetLayoutBinding){ vars[i].binding, vars[i].class == 2 ? VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL };
  VkDescriptorSetLayout set; CHECK(vkCreateDescriptorSetLayout(device, &(VkDescriptorSetLayoutCreateInfo){ VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, .bindingCount = numVars, .pBindings = slots }, NULL, &set));
  VkPushConstantRange push = { VK_SHADER_STAGE_COMPUTE_BIT, 0, 128 };
  VkPipelineLayout layout; CHECK(vkCreatePipelineLayout(device, &(VkPipelineLayoutCreateInfo){ VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, .setLayoutCount = 1, .pSetLayouts = &set, .pushConstantRangeCount = 1, .pPushConstantRanges = &push }, NULL, &layout));
  VkShaderModule module; CHECK(vkCreateShaderModule(device, &(VkShaderModuleCreateInfo){ VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = bytes, .pCode = code }, NULL, &module));
  VkPipeline pipeline; CHECK(vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &(VkComputePipelineCreateInfo){ VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO, .flags = VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR | VK_PIPELINE_CREATE_CAPTURE_INTERNAL_REPRESENTATIONS_BIT_KHR, .stage = { VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO, .stage = VK_SHADER_STAGE_COMPUTE_BIT, .module = module, .pName = entry }, .layout = layout }, NULL, &pipeline));

  PFN_vkGetPipelineExecutableStatisticsKHR statistics = (void *)vkGetDeviceProcAddr(device, "vkGetPipelineExecutableStatisticsKHR");
  PFN_vkGetPipelineExecutableInternalRepresentationsKHR texts = (void *)vkGetDeviceProcAddr(device, "vkGetPipelineExecutableInternalRepresentationsKHR");
  VkPipelineExecutableInfoKHR which = { VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR, .pipeline = pipeline }; uint32_t n = 0;
  CHECK(statistics(device, &which, &n, NULL)); VkPipelineExecutableStatisticKHR *s = calloc(n, sizeof *s); for (uint32_t i = 0; i < n; i++) s[i].sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR;
  CHECK(statistics(device, &which, &n, s)); for (uint32_t i = 0; i < n; i++) printf("%s = %llu\n", s[i].name, (unsigned long long)s[i].value.u64);
  if (argc > 2) {
    CHECK(texts(device, &which, &n, NULL)); VkPipelineExecutableInternalRepresentationKHR *t = calloc(n, sizeof *t); for (uint32_t i = 0; i < n; i++) t[i].sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INTERNAL_REPRESENTATION_KHR;
    CHECK(texts(device, &which, &n, t)); for (uint32_t i = 0; i < n; i++) t[i].pData = malloc(t[i].dataSize + 1);
    CHECK(texts(device, &which, &n, t)); for (uint32_t i = 0; i < n; i++) if (strstr(t[i].name, "ssembly")) printf("%s\n", (char *)t[i].pData);
  }
  fflush(stdout); _Exit(0); // a device without hardware does not close cleanly
}
