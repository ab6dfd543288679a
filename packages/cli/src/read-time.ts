import { CommandFault } from './exit-code.ts'

const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/**
 * Reads a time, or an age before `now`. @returns milliseconds since the epoch
 * @throws CommandFault
 */
export function readTime(option: string, text: string, now: number): number {
  const ago = /^(\d{1,6})([mhd])$/.exec(text)
  if (ago !== null) return now - Number(ago[1]) * UNITS[ago[2] as keyof typeof UNITS]
  const isWhole = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/.test(text)
  const at = isWhole ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(at)) return at
  const remedy = 'Give 2026-11-21 (UTC), 2026-11-21T10:00:00Z, or an age such as 30m, 24h, 7d'
  throw new CommandFault('misused', `${option} is not a time: ${text}`, remedy)
}

/** Reads a time as the API takes it. @returns undefined if the option was not given @throws CommandFault */
export function readIsoTime(option: string, text: string | undefined, now: number): string | undefined {
  return text === undefined ? undefined : new Date(readTime(option, text, now)).toISOString()
}
