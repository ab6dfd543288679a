import { OutOfBand } from '@backstop/contracts'
import { CommandFault } from '../fault.ts'
import { readArguments } from '../read-arguments.ts'

/** What `backstop dry-run` was asked for. Times are milliseconds since the epoch. */
export interface DryRunWish {
  readonly from: number
  readonly to: number
  readonly projectId: string | undefined
  readonly connectionId: string | undefined
  readonly outOfBand: OutOfBand | undefined
  /** Milliseconds; undefined leaves what the product has. */
  readonly recheckDelayMs: number | undefined
  readonly json: boolean
}

/** @throws CommandFault for what cannot be meant */
export function readDryRunOptions(args: readonly string[], now: number): DryRunWish {
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
  if (positionals.length > 0) throw new CommandFault('misused', `dry-run takes no ${positionals[0]}`)
  if (values.from === undefined) {
    throw new CommandFault('misused', 'Say where to begin', 'backstop dry-run --from 24h  replays the last day')
  }
  const from = timeOf('--from', values.from, now)
  const to = values.to === undefined ? now : timeOf('--to', values.to, now)
  if (from >= to) throw new CommandFault('misused', 'The window is empty: --from does not lie before --to')
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
  const remedy = 'Give 2026-11-21 (UTC), 2026-11-21T10:00:00Z, or 30m, 24h, 7d for so long ago'
  throw new CommandFault('misused', `${option} is no time: ${text}`, remedy)
}

function outOfBandOf(text: string | undefined): OutOfBand | undefined {
  if (text === undefined) return undefined
  const parsed = OutOfBand.safeParse(text)
  if (parsed.success) return parsed.data
  throw new CommandFault('misused', `--out-of-band is ${OutOfBand.options.join(', ')}, and not ${text}`)
}

/** As in the reconciler's own settings. */
const MOST_DELAY_MS = 86_400_000

function delayOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^\d{1,8}$/.test(text) && Number(text) <= MOST_DELAY_MS) return Number(text)
  throw new CommandFault('misused', `--recheck-delay is whole milliseconds from 0 to ${MOST_DELAY_MS}, and not ${text}`)
}
