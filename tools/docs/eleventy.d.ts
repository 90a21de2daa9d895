// The part of Eleventy that is used here: it comes without types.

declare module "@11ty/eleventy" {
  import type { MarkdownIt } from "markdown-it-part";

  export interface PageContext {
    readonly page: { readonly inputPath: string };
  }

  export interface UserConfig {
    setTemplateFormats(formats: readonly string[]): void;
    setUseGitIgnore(isUsed: boolean): void;
    addGlobalData(name: string, value: unknown): void;
    addTemplate(path: string, content: string): void;
    addTransform(name: string, transform: (this: PageContext, content: string) => string): void;
    amendLibrary(name: "md", amend: (markdown: MarkdownIt) => void): void;
  }

  export class Eleventy {
    constructor(
      input: string,
      output: string,
      options: { configPath: false; quietMode: boolean; config: (config: UserConfig) => void },
    );
    disableLogger(): void;
    write(): Promise<unknown>;
  }
}

declare module "markdown-it-part" {
  import type { PageContext } from "@11ty/eleventy";

  export interface Token {
    readonly type: string;
    readonly tag: string;
    readonly content: string;
    readonly children: readonly Token[] | null;
    attrGet(name: string): string | null;
    attrSet(name: string, value: string): void;
    readonly attrs: [string, string][] | null;
  }
  export type Rule = (
    tokens: readonly Token[],
    index: number,
    options: unknown,
    env: PageContext,
    self: { renderToken(tokens: readonly Token[], index: number, options: unknown): string },
  ) => string;
  export interface MarkdownIt {
    readonly renderer: { readonly rules: Record<string, Rule | undefined> };
  }
}
