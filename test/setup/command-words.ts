/** Checks the command lines of `backstop` that documents show. */
import { createProgram } from '../../packages/cli/src/command-line.ts'
import { wordsOf } from '../../packages/cli/src/completion/command.ts'
import type { Surroundings } from '../../packages/cli/src/surroundings.ts'

const words = wordsOf(createProgram({} as Surroundings))

/** The unknown words of a command line, for example an option that its command does not have. */
export function unknownWords(line: string): string[] {
  const [, ...parts] = (line.split(' < ')[0] ?? '').split(' ')
  const depth = parts.findIndex((_, index) => !words.has(parts.slice(0, index + 1).join(' ')))
  const path = (depth === -1 ? parts : parts.slice(0, depth)).join(' ')
  if (path === '') return [line]
  const options = parts.filter(part => part.startsWith('--'))
  return options.filter(option => !words.get(path)?.includes(option)).map(option => `${path} ${option}`)
}
