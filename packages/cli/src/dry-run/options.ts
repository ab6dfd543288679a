import type { OutOfBand } from '@backstop/contracts'
import { CommandFault } from '../fault.ts'
import { readTime } from '../read-time.ts'

/** The options of `backstop dry-run` as they are given. */
export interface GivenOptions {
  readonly from: string
  readonly to?: string
  readonly project?: string
  readonly connection?: string
  readonly outOfBand?: OutOfBand
  readonly recheckDelay?: string
  readonly json?: true
}

/** The options of `backstop dry-run`. Times are in milliseconds since the epoch. */
export interface DryRunOptions {
  readonly from: number
  readonly to: number
  readonly projectId: string | undefined
  readonly connectionId: string | undefined
  readonly outOfBand: OutOfBand | undefined
  /** Milliseconds; undefined: the setting of the product. */
  readonly recheckDelayMs: number | undefined
  readonly json: boolean
}

/** Reads the options. @throws CommandFault for invalid ones */
export function readDryRunOptions(given: GivenOptions, now: number): DryRunOptions {
  const from = readTime('--from', given.from, now)
  const to = given.to === undefined ? now : readTime('--to', given.to, now)
  if (from >= to) throw new CommandFault('misused', 'The window is empty: give a --from before --to')
  return {
    from,
    to,
    projectId: given.project,
    connectionId: given.connection,
    outOfBand: given.outOfBand,
    recheckDelayMs: delayOf(given.recheckDelay),
    json: given.json === true,
  }
}

/** The limit of the reconciler's setting. */
const MAX_DELAY_MS = 86_400_000

function delayOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^\d{1,8}$/.test(text) && Number(text) <= MAX_DELAY_MS) return Number(text)
  throw new CommandFault(
    'misused',
    `--recheck-delay must be whole milliseconds from 0 to ${MAX_DELAY_MS}; it is ${text}`,
  )
}
