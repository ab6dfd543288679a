import { expect, test } from 'vitest'
import { decideOrigin, decideSignInOrigin } from './same-origin.ts'

const own = { method: 'POST', host: 'backstop.example.test', fetchSite: undefined } as const
const https = 'https://backstop.example.test'

test.each([
  { name: 'its own origin', request: { ...own, origin: https } },
  { name: 'its own origin with the default port', request: { ...own, origin: `${https}:443` } },
  { name: 'its own host in other case', request: { ...own, host: 'Backstop.Example.test', origin: https } },
  { name: 'loopback', request: { ...own, host: '127.0.0.1:8082', origin: 'http://127.0.0.1:8082' } },
  { name: 'what the browser calls the same origin', request: { ...own, origin: undefined, fetchSite: 'same-origin' } },
] as const)('accepts a change from $name', ({ request }) => {
  expect(decideOrigin(request)).toEqual({ kind: 'accepted' })
})

test.each([
  { name: 'no host', request: { ...own, host: undefined, origin: https } },
  { name: 'no host and the origin null', request: { ...own, host: undefined, origin: 'null' } },
  {
    name: 'no host, although the browser calls it the same origin',
    request: { ...own, host: undefined, origin: undefined, fetchSite: 'same-origin' },
  },
  { name: 'the origin null', request: { ...own, origin: 'null' } },
  { name: 'another scheme', request: { ...own, origin: 'http://backstop.example.test' } },
  { name: 'a scheme without an origin', request: { ...own, origin: 'data:text/html,x' } },
  { name: 'another port', request: { ...own, origin: `${https}:8443` } },
  { name: 'another host', request: { ...own, origin: 'https://evil.example.test' } },
  { name: 'an empty host', request: { ...own, host: '', origin: 'null' } },
  { name: 'a host that is no host', request: { ...own, host: '%', origin: 'null' } },
] as const)('refuses a change with $name', ({ request }) => {
  expect(decideOrigin(request)).toEqual({ kind: 'refused', reason: 'cross_site' })
  expect(decideSignInOrigin(request)).toEqual({ kind: 'refused', reason: 'cross_site' })
})
