import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'

/** True if the address belongs to this machine or container. Not cached, because addresses change. */
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
