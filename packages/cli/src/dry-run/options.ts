import { OutOfBand } from '@backstop/contracts'
import { CommandFault } from '../fault.ts'
import { readArguments } from '../read-arguments.ts'

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
export function readDryRunOptions(args: readonly string[], now: number): DryRunOptions {
  const text = { type: 'string' } as const
  const { values, positionals } = readArguments(args, {
    from: text,
    to: text,
    project: text,
    connection: text,
    'out-of-band': text,
    'recheck-delay': text,
    json: { type: 'boolean' },
  })
  if (positionals.length > 0) throw new CommandFault('misused', `Unexpected argument: ${positionals[0]}`)
  if (values.from === undefined) {
    throw new CommandFault(
      'misused',
      'Give the start of the window with --from',
      'backstop dry-run --from 24h  replays the last day',
    )
  }
  const from = timeOf('--from', values.from, now)
  const to = values.to === undefined ? now : timeOf('--to', values.to, now)
  if (from >= to) throw new CommandFault('misused', 'The window is empty: give a --from before --to')
  return {
    from,
    to,
    projectId: values.project,
    connectionId: values.connection,
    outOfBand: outOfBandOf(values['out-of-band']),
    recheckDelayMs: delayOf(values['recheck-delay']),
    json: values.json === true,
  }
}

const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const

function timeOf(option: string, text: string, now: number): number {
  const ago = /^(\d{1,6})([mhd])$/.exec(text)
  if (ago !== null) return now - Number(ago[1]) * UNITS[ago[2] as keyof typeof UNITS]
  const isWhole = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/.test(text)
  const at = isWhole ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(at)) return at
  const remedy = 'Give 2026-11-21 (UTC), 2026-11-21T10:00:00Z, or an age such as 30m, 24h, 7d'
  throw new CommandFault('misused', `${option} is not a time: ${text}`, remedy)
}

function outOfBandOf(text: string | undefined): OutOfBand | undefined {
  if (text === undefined) return undefined
  const parsed = OutOfBand.safeParse(text)
  if (parsed.success) return parsed.data
  throw new CommandFault('misused', `--out-of-band must be one of ${OutOfBand.options.join(', ')}; it is ${text}`)
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
