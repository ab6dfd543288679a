import { type ChannelConfigPatch, urlsOf } from '@backstop/contracts'
import { refuseCustomHeaders } from '@backstop/kit'
import type { AdminParts } from '../parts.ts'
import { refusedField } from './refused-field.ts'

/**
 * Refuses where a channel may not deliver to, and what it may not send along.
 * @param config a new channel's, or the parts of one that change
 * @throws AppError `egress_blocked`, `invalid_request`
 */
export function checkTarget({ checkUrl }: Pick<AdminParts, 'checkUrl'>, config: ChannelConfigPatch): void {
  for (const url of urlsOf(config)) {
    const blocked = checkUrl(url)
    if (blocked !== undefined) throw blocked
  }
  const fault = config.headers === undefined ? undefined : refuseCustomHeaders(config.headers)
  if (fault !== undefined) throw refusedField('body.config.headers', fault)
}
