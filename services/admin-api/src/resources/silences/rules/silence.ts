import { MAX_SILENCE_S, type NewSilence, Silence, type SilenceDocument, SilenceSummary } from '@backstop/contracts'
import type { z } from 'zod'
import { showDocument } from '../../../rules/show-document.ts'

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

export function showSilence(silence: SilenceDocument, now: Date): Silence {
  return showDocument(Silence, silence, {
    silence_id: silence._id,
    state: silence.ends_at > now ? 'active' : 'ended',
  })
}

export function summarizeSilence(silence: SilenceDocument): SilenceSummary {
  return showDocument(SilenceSummary, silence, { silence_id: silence._id })
}
