// Shapes of the benchmark's random models: a step takes as long with random weights as with trained ones.

export interface ModelSize {
  readonly nLayer: number;
  readonly nEmbd: number;
  readonly nHead: number;
  readonly vocabSize: number;
  readonly nPositions: number;
}

export const MODEL_SIZES = {
  tiny: { nLayer: 2, nEmbd: 64, nHead: 4, vocabSize: 512, nPositions: 512 },
  small: { nLayer: 6, nEmbd: 384, nHead: 6, vocabSize: 8192, nPositions: 512 },
  distilgpt2: { nLayer: 6, nEmbd: 768, nHead: 12, vocabSize: 50257, nPositions: 1024 },
  gpt2: { nLayer: 12, nEmbd: 768, nHead: 12, vocabSize: 50257, nPositions: 1024 },
  "gpt2-medium": { nLayer: 24, nEmbd: 1024, nHead: 16, vocabSize: 50257, nPositions: 1024 },
  "gpt2-large": { nLayer: 36, nEmbd: 1280, nHead: 20, vocabSize: 50257, nPositions: 1024 },
  "gpt2-xl": { nLayer: 48, nEmbd: 1600, nHead: 25, vocabSize: 50257, nPositions: 1024 },
} as const satisfies Record<string, ModelSize>;

type SizeName = keyof typeof MODEL_SIZES;

export function isSizeName(name: string): name is SizeName {
  return Object.hasOwn(MODEL_SIZES, name);
}
