export const STARTERS: readonly string[] = [
  "Tell me a story about a purple octopus",
  "What is the capital of Canada?",
  "Why is the sky blue?",
  "Tell me a joke",
];

/** Asked with a calculator that the model must call. */
export const SUM_STARTER = "What is 17 times 23?";

/** For models that continue text instead of answering. */
export const BEGINNINGS: readonly string[] = [
  "Once upon a time, in a house at the edge of the sea,",
  "The capital of Canada is",
  "The sky is blue because",
  "Dear Sir or Madam,",
];
