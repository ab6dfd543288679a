import { type Client, createClient } from '@backstop/client'
import { MAX_REFUNDED_TWICE_HOURS } from '@backstop/contracts'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { CommandFault } from './exit-code.ts'
import { findApi } from './find-backstop.ts'
import { type Column, tableOf } from './output/table.ts'
import type { Surroundings } from './surroundings.ts'

/** What a command runs with: its surroundings, and a client of the management API. */
export interface Context extends Surroundings {
  /** @throws CommandFault if no address is known */
  readonly client: Client
}

/** What a command prints: `item` with --json, `text` without it. */
export interface Printed {
  readonly item: unknown
  readonly text: string
  /** Goes to standard error before `text`, which a script can then store. Not printed with --json. */
  readonly note?: string
  /** Ends the command after its output. */
  readonly fault?: CommandFault | undefined
}

/** The options that every command has. */
interface JsonOption {
  readonly json?: true
}

/** An option: its flags, its help, and how its value is read. */
type OptionInput =
  | readonly [flags: string, help: string]
  | readonly [flags: string, help: string, parse: (text: string) => unknown, byDefault?: unknown]
  | Option

interface CommandTexts {
  /** The name with the arguments: `show <incident_id>`. */
  readonly usage: string
  readonly summary: string
  readonly examples: readonly [string, ...string[]]
  readonly options?: readonly OptionInput[]
}

/** Describes a command that does one thing and prints its result. */
export interface CommandInput<Options> extends CommandTexts {
  /** @param args the arguments of `usage`. @returns undefined if it has printed by itself */
  run(context: Context, options: Options & JsonOption, ...args: string[]): Promise<Printed | undefined>
}

/** Adds a command. */
export function addCommand<Options = unknown>(
  parent: Command,
  surroundings: Surroundings,
  { run, ...texts }: CommandInput<Options>,
): Command {
  return begin(parent, texts).action(async (...given: unknown[]) => {
    // Commander passes the arguments, the options and the command.
    const options = given.at(-2) as Options & JsonOption
    const printed = await run(contextOf(surroundings), options, ...(given.slice(0, -2) as string[]))
    if (printed === undefined) return
    const { item, text, note, fault } = printed
    if (note !== undefined && !options.json) surroundings.err(note)
    surroundings.out(options.json ? `${JSON.stringify(item, undefined, 2)}\n` : text)
    if (fault !== undefined) throw fault
  })
}

/** Adds a command that only groups others, such as `incidents`. */
export function addGroup(parent: Command, name: string, summary: string): Command {
  return parent.command(name).description(summary)
}

interface ListOptions extends JsonOption {
  readonly limit: number
  readonly ids?: true
}

/** Describes a command that prints a list. */
export interface ListInput<Item, Options> extends CommandTexts {
  /** The first column has the id. */
  readonly columns: readonly Column<Item>[]
  read(context: Context, options: Options, ...args: string[]): AsyncIterable<Item>
}

/** Items that a list prints without --limit. */
const DEFAULT_LIMIT = 50

/** Adds a command that prints the first items of a list: each as one line of JSON, all as a table, or only their ids. */
export function addList<Item, Options = unknown>(
  parent: Command,
  surroundings: Surroundings,
  { columns, read, options = [], ...texts }: ListInput<Item, Options>,
): Command {
  const { out, err } = surroundings
  const ofList: OptionInput[] = [
    ['--ids', 'print only ids, for scripts'],
    ['--limit <n>', 'how many items to print', parseCount, DEFAULT_LIMIT],
  ]
  return begin(parent, { ...texts, options: [...ofList, ...options] }).action(async (...given: unknown[]) => {
    const { json, ids, limit, ...own } = given.at(-2) as ListOptions & Options
    const items: Item[] = []
    let hasMore = false
    for await (const item of read(contextOf(surroundings), own as Options, ...(given.slice(0, -2) as string[]))) {
      hasMore = items.length === limit
      if (hasMore) break
      items.push(item)
      if (json) out(`${JSON.stringify(item)}\n`)
    }
    if (ids) out(items.map(item => `${columns[0]?.of(item)}\n`).join(''))
    else if (!json) out(items.length === 0 ? 'None.\n' : tableOf(columns, items))
    if (hasMore && !ids) err(`Only the first ${limit}; --limit <n> prints more\n`)
  })
}

/** A command with --json, whose help ends with examples. */
function begin(parent: Command, { usage, summary, examples, options = [] }: CommandTexts): Command {
  const command = parent.command(usage).description(summary).option('--json', 'print JSON, for programs')
  for (const option of options) {
    if (option instanceof Option) command.addOption(option)
    else command.addOption(optionOf(option))
  }
  return command.addHelpText('after', `\nExample:\n  ${examples.join('\n  ')}`)
}

function optionOf([flags, help, parse, byDefault]: Exclude<OptionInput, Option>): Option {
  const option = new Option(flags, help)
  if (parse !== undefined) option.argParser(parse)
  return byDefault === undefined ? option : option.default(byDefault)
}

/** An option that must be given. */
export function requiredOption(...option: Exclude<OptionInput, Option>): Option {
  return optionOf(option).makeOptionMandatory()
}

/** An option with one of some values. */
export function choiceOption(flags: string, help: string, choices: readonly string[]): Option {
  return new Option(flags, help).choices(choices)
}

/** A call may take this long, in milliseconds. */
const TIMEOUT_MS = 15_000

function contextOf(surroundings: Surroundings): Context {
  return {
    ...surroundings,
    get client() {
      const { url, key } = findApi(surroundings)
      return createClient({ baseUrl: url, key, timeoutMs: TIMEOUT_MS, retries: 1 })
    },
  }
}

/** Leaves out the fields that are undefined, as options that were not given are. */
export function given<T extends object>(fields: T): { [Field in keyof T]?: Exclude<T[Field], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never
}

/** Reads a whole number from 1. */
export function parseCount(text: string): number {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Give a whole number from 1.')
}

/** Reads the hours within which a second refund is reported, from 1. */
export function parseRepeatHours(text: string): number {
  const hours = /^[1-9]\d{0,2}$/.test(text) ? Number(text) : Number.NaN
  if (hours <= MAX_REFUNDED_TWICE_HOURS) return hours
  throw new InvalidArgumentError(`Give a whole number of hours from 1 to ${MAX_REFUNDED_TWICE_HOURS}.`)
}

/** Reads the hours of an overlap, from 0. */
export function parseOverlapHours(text: string): number {
  if (/^(?:0|[1-9]\d{0,2})$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Give a whole number from 0.')
}
