import { type Command, InvalidArgumentError } from 'commander'

/** Adds a command that has --json, and whose help ends with examples. */
export function addCommand(
  parent: Command,
  usage: string,
  summary: string,
  ...examples: readonly [string, ...string[]]
): Command {
  return parent
    .command(usage)
    .description(summary)
    .option('--json', 'print JSON, for programs')
    .addHelpText('after', `\nExample:\n  ${examples.join('\n  ')}`)
}

/** Adds a command that only groups others, such as `incidents`. */
export function addGroup(parent: Command, name: string, summary: string): Command {
  return parent.command(name).description(summary)
}

/** Items that a list prints without --limit. */
const DEFAULT_LIMIT = 50

/** Adds the options of a list. */
export function withListOptions(command: Command): Command {
  return command
    .option('--ids', 'print only ids, for scripts')
    .option('--limit <n>', 'how many items to print', parseCount, DEFAULT_LIMIT)
}

/** Reads a whole number from 1. */
export function parseCount(text: string): number {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Give a whole number from 1.')
}

/** Reads the hours of an overlap, from 0. */
export function parseOverlapHours(text: string): number {
  if (/^(?:0|[1-9]\d{0,2})$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Give a whole number from 0.')
}
