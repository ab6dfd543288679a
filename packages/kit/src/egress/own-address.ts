import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'

/** Whether a connection to this address would end on this machine, or in this container. Asked anew: addresses come and go. */
export function isOwnAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false
  const address = ipaddr.process(text)
  const range = address.range()
  if (range === 'loopback' || range === 'unspecified') return true
  const normal = address.toNormalizedString()
  return Object.values(networkInterfaces()).some(own =>
    own?.some(({ address: one }) => ipaddr.isValid(one) && ipaddr.process(one).toNormalizedString() === normal),
  )
}
