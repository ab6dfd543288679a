import { hasDigests } from '@backstop/channels'
import type { ChannelKind, QuietHours } from '@backstop/contracts'
import { refusedField } from '../../http/refused-field.ts'

/**
 * Refuses quiet hours for a kind without digests, because all held alerts would arrive one by one when the quiet hours end.
 * @throws AppError `invalid_request`
 */
export function checkQuietHours(kind: ChannelKind, quietHours: QuietHours | null): void {
  if (quietHours === null || hasDigests(kind)) return
  throw refusedField(
    'body.quiet_hours',
    `Only slack and email have quiet hours, because only they send the held alerts as one digest; set them in the service that gets the alerts of this ${kind} channel`,
  )
}
