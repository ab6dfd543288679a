import { describe, expect, test } from 'vitest'
import { createNetworkMatcher } from '../egress/index.ts'
import { addressKey, clientAddress, createForwardedKeys } from './client-address.ts'

const isTrustedProxy = createNetworkMatcher(['10.0.0.0/8', '2001:db8:ffff::/48'])

describe('the address of a client', () => {
  test.each([
    { name: 'the peer, where nothing is forwarded', peer: '192.0.2.1', header: [], is: '192.0.2.1' },
    { name: 'the peer, whatever one that is no proxy claims', peer: '192.0.2.1', header: ['9.9.9.9'], is: '192.0.2.1' },
    { name: 'what the proxy saw', peer: '10.0.0.1', header: ['192.0.2.7'], is: '192.0.2.7' },
    { name: 'what the first of two proxies saw', peer: '10.0.0.1', header: ['192.0.2.7, 10.0.0.2'], is: '192.0.2.7' },
    {
      name: 'not what the client wrote in front of it',
      peer: '10.0.0.1',
      header: ['9.9.9.9, 192.0.2.7, 10.0.0.2'],
      is: '192.0.2.7',
    },
    { name: 'the last of several headers', peer: '10.0.0.1', header: ['9.9.9.9', '192.0.2.7'], is: '192.0.2.7' },
    { name: 'the proxy, where the list is empty', peer: '10.0.0.1', header: [''], is: '10.0.0.1' },
    { name: 'the proxy, where it forwards no address', peer: '10.0.0.1', header: ['9.9.9.9, unknown'], is: '10.0.0.1' },
    { name: 'an address with a port', peer: '10.0.0.1', header: ['192.0.2.7:4711'], is: '192.0.2.7' },
    { name: 'an IPv6 address in brackets', peer: '2001:db8:ffff::1', header: ['[2001:db8::7]:443'], is: '2001:db8::7' },
    { name: 'behind a proxy met by IPv6-mapped IPv4', peer: '::ffff:10.0.0.1', header: ['192.0.2.7'], is: '192.0.2.7' },
  ])('is $name', ({ peer, header, is }) => {
    expect(clientAddress(peer, header, isTrustedProxy)).toBe(is)
  })

  test('is the peer where no proxy is trusted', () => {
    expect(clientAddress('10.0.0.1', ['192.0.2.7'], createNetworkMatcher([]))).toBe('10.0.0.1')
  })
})

describe('what an address is counted by', () => {
  test.each([
    { address: '192.0.2.1', key: '192.0.2.1' },
    { address: '::ffff:192.0.2.1', key: '192.0.2.1' },
    { address: '2001:db8:1:2:3:4:5:6', key: '2001:db8:1:2::/64' },
    { address: '2001:db8:1:2::9', key: '2001:db8:1:2::/64' },
    { address: '', key: 'unknown' },
  ])('of $address is $key', ({ address, key }) => {
    expect(addressKey(address)).toBe(key)
  })
})

describe('the key of a client that a proxy names', () => {
  function countChecks() {
    const checked: string[] = []
    const keyOf = createForwardedKeys(address => {
      checked.push(address)
      return isTrustedProxy(address)
    })
    return { checked, keyOf }
  }

  test('is evaluated once for each statement of a proxy', () => {
    const { checked, keyOf } = countChecks()
    const ask = () => [
      keyOf('10.0.0.1', ['192.0.2.7']),
      keyOf('10.0.0.1', ['192.0.2.8']),
      keyOf('10.0.0.1', ['192.0.2.7', '10.0.0.2']),
      keyOf('10.0.0.1', []),
      keyOf('192.0.2.9', ['192.0.2.7']),
    ]
    const first = ask()
    const { length } = checked
    expect(first).toEqual(['192.0.2.7', '192.0.2.8', '192.0.2.7', null, '192.0.2.9'])
    expect(ask()).toEqual(first)
    expect(checked).toHaveLength(length)
  })

  test('is evaluated again if the header is so long that a client wrote most of it', () => {
    const { checked, keyOf } = countChecks()
    const header = [`${Array.from({ length: 30 }, () => '9.9.9.9').join()}, 192.0.2.7`]
    keyOf('10.0.0.1', header)
    const { length } = checked
    expect(keyOf('10.0.0.1', header)).toBe('192.0.2.7')
    expect(checked).toHaveLength(2 * length)
  })
})

test('a trusted network that is none is refused with the entry', () => {
  expect(() => createNetworkMatcher(['10.0.0.0/8', 'lb.internal'])).toThrow('"lb.internal" is not a network')
})
