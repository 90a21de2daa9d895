// The part of Eleventy that is used here: it comes without types.

declare module "@11ty/eleventy" {
  export interface PageContext {
    readonly page: { readonly inputPath: string };
  }

  export interface UserConfig {
    setTemplateFormats(formats: readonly string[]): void;
    setUseGitIgnore(isUsed: boolean): void;
    addGlobalData(name: string, value: unknown): void;
    addTemplate(path: string, content: string): void;
    addTransform(name: string, transform: (this: PageContext, content: string) => string): void;
    /** Hands over the library that renders files with this ending: of Markdown, markdown-it. */
    amendLibrary(ending: string, amend: (library: never) => void): void;
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
