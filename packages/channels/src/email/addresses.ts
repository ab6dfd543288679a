import type { StoredChannel } from '@backstop/contracts'
import type { EmailConfig } from './form.ts'

/**
 * The addresses of a channel that are single addr-specs (RFC 5321 §4.1.2, without quoting). Names, groups, comments,
 * lists and line breaks are excluded, because a mail library could read them as additional recipients or headers (ASVS
 * 1.3.11).
 */
export function validAddresses(channel: StoredChannel<EmailConfig>): string[] {
  const valid = channel.config.to.filter(isSingleAddress)
  // Addresses that differ only in case are one mailbox, as in the suppression list.
  return [...new Map(valid.map(address => [address.toLowerCase(), address])).values()]
}

const ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?'
const ADDRESS = new RegExp(`^${ATOM}(?:\\.${ATOM})*@${LABEL}(?:\\.${LABEL})*$`)

/** True if the text is exactly one plain address of at most 254 characters (RFC 5321 §4.5.3.1.3). */
export function isSingleAddress(text: string): boolean {
  return text.length <= 254 && text.indexOf('@') <= 64 && ADDRESS.test(text)
}
