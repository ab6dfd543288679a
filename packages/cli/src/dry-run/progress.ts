import type { DryRunProgress } from '@backstop/contracts'
import type { Surroundings } from '../surroundings.ts'
import type { DryRunOptions } from './options.ts'

/** How often progress is printed if it cannot overwrite its line. */
const PROGRESS_EVERY_MS = 10_000

/** Prints the progress of a dry run: over and over on one line of a terminal, elsewhere on a new line every ten seconds. */
export function createProgress(
  { from, to }: Pick<DryRunOptions, 'from' | 'to'>,
  { err, isTerminal, now }: Pick<Surroundings, 'err' | 'isTerminal' | 'now'>,
) {
  let shownAt: number | undefined
  return {
    show({ walking, at, compared, different }: DryRunProgress): void {
      // Counted from the first page, because the time in which the program starts is no progress.
      shownAt ??= now()
      if (!isTerminal && now() - shownAt < PROGRESS_EVERY_MS) return
      shownAt = now()
      const percent = Math.floor(((at - from) / (to - from)) * 100)
      const line = `${walking} ${percent} %: ${compared} compared, ${different} different`
      err(isTerminal ? `\r\u001b[K${line}` : `${line}\n`)
    },
    clear(): void {
      if (isTerminal) err('\r\u001b[K')
    },
  }
}
