import {
  MAX_SILENCE_S,
  type NewSilence,
  type Silence,
  type SilenceDocument,
  type SilenceSummary,
} from '@backstop/contracts'
import type { z } from 'zod'

/** When a new silence ends, or why the request is refused. */
export type SilenceEnd =
  | { readonly kind: 'ends'; readonly at: Date }
  | { readonly kind: 'refused'; readonly reason: 'already_over' | 'too_long' }

export function decideSilenceEnd(body: z.output<typeof NewSilence>, now: Date): SilenceEnd {
  const at =
    body.ends_at === undefined ? new Date(now.getTime() + (body.duration_seconds ?? 0) * 1000) : new Date(body.ends_at)
  if (at <= now) return { kind: 'refused', reason: 'already_over' }
  if (at.getTime() - now.getTime() > MAX_SILENCE_S * 1000) return { kind: 'refused', reason: 'too_long' }
  return { kind: 'ends', at }
}

export function showSilence({ _id, ...silence }: SilenceDocument, now: Date): Silence {
  return {
    silence_id: _id,
    ...silence,
    state: silence.ends_at > now ? 'active' : 'ended',
    created_at: silence.created_at.toISOString(),
    ends_at: silence.ends_at.toISOString(),
  }
}

export function summarizeSilence({ _id, ends_at, created_by, reason }: SilenceDocument): SilenceSummary {
  return { silence_id: _id, ends_at: ends_at.toISOString(), created_by, reason }
}
