/* GPT-2's GELU on bfloat16, forward and backward: y = x * sigmoid(2u), u = sqrt(2/pi) (x + 0.044715 x^3). */
#include <math.h>
#include <stdint.h>
#include <string.h>

static inline float widen(uint16_t half) {
  uint32_t bits = (uint32_t)half << 16;
  float value;
  memcpy(&value, &bits, 4);
  return value;
}

static inline uint16_t narrow(float value) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  return (uint16_t)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

/* 2^n times a polynomial for 2^fraction: good to bfloat16's 8 bits, and it vectorises. */
static inline float fast_exp(float x) {
  x = x > 87.f ? 87.f : x < -87.f ? -87.f : x;
  float t = x * 1.4426950f, n = rintf(t), f = t - n;
  float p = 1.f + f * (0.69314718f + f * (0.24022651f + f * (0.05550411f + f * 0.00961813f)));
  int32_t exponent = ((int32_t)n + 127) << 23;
  float scale;
  memcpy(&scale, &exponent, 4);
  return p * scale;
}

#define A 1.5957691f  /* 2 sqrt(2/pi) */
#define B 0.07135481f /* A * 0.044715 */

void gelu_forward(const uint16_t *x, uint16_t *y, long count, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (long i = 0; i < count; i++) {
    float v = widen(x[i]);
    y[i] = narrow(v / (1.f + fast_exp(-v * (A + B * v * v))));
  }
}

void gelu_backward(const uint16_t *x, const uint16_t *grad, uint16_t *out, long count, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (long i = 0; i < count; i++) {
    float v = widen(x[i]), s = 1.f / (1.f + fast_exp(-v * (A + B * v * v)));
    out[i] = narrow(widen(grad[i]) * (s + v * s * (1.f - s) * (A + 3.f * B * v * v)));
  }
}
