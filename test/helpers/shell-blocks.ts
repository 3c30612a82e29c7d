// The shell commands of a Markdown page.

export interface ShellBlock {
  /** `README.md:27` */
  place: string;
  text: string;
  /** Why it cannot run in a test, from the comment `<!-- not run: REASON -->` above it. */
  notRun: string | null;
  /** Whether the comment `<!-- runs until it is stopped -->` is above it. */
  runsOn: boolean;
}

const FENCED = /(?:<!-- (?<comment>[^>]*?) -->\n\n)?^```sh\n(?<text>.*?)^```$/gmsu;

/** The ```sh blocks of a page, in order. */
export function shellBlocks(page: string, markdown: string): ShellBlock[] {
  return [...markdown.matchAll(FENCED)].map(({ index, groups }) => {
    const comment = groups?.['comment'] ?? '';
    return {
      place: `${page}:${markdown.slice(0, index).split('\n').length}`,
      text: groups?.['text'] ?? '',
      notRun: /^not run: (.+)$/u.exec(comment)?.[1] ?? null,
      runsOn: comment === 'runs until it is stopped',
    };
  });
}
