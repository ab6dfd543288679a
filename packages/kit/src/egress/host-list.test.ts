import { expect, test } from 'vitest'
import { createHostList } from './host-list.ts'

const hosts = createHostList(['api.example.com', '*.biller.example', 'LOCALHOST', '127.0.0.0/8', '10.1.2.3', '::1/128'])

test.each([
  { url: 'https://api.example.com/v1', included: true },
  { url: 'https://API.example.com:8443', included: true },
  { url: 'https://api.example.com./v1', included: true },
  { url: 'http://localhost:12', included: true },
  { url: 'https://acme.biller.example', included: true },
  { url: 'http://127.9.8.7:1', included: true },
  { url: 'http://0x7f.1:1', included: true },
  { url: 'http://10.1.2.3', included: true },
  { url: 'http://[::1]:80', included: true },
  { url: 'http://[::ffff:127.0.0.1]', included: true },
  { url: 'https://example.com', included: false },
  { url: 'https://api.example.com.attacker.test', included: false },
  { url: 'https://xapi.example.com', included: false },
  { url: 'https://api.example.com@attacker.test', included: false },
  { url: 'https://attacker.test/api.example.com', included: false },
  { url: 'https://attacker.test\\@api.example.com', included: false },
  { url: 'https://biller.example', included: false },
  { url: 'https://a.b.biller.example', included: false },
  { url: 'http://10.1.2.4', included: false },
  { url: 'http://[::2]', included: false },
  { url: 'not a url', included: false },
  { url: 'data:text/plain,x', included: false },
])('the list includes the host of $url: $included', ({ url, included }) => {
  expect(hosts.includesHostOf(url)).toBe(included)
})

test.each([
  '',
  'https://api.example.com',
  'a b',
  '*',
  '*.',
  'a*.example.com',
  '10.0.0',
  '10.0.0.0/33',
  'host:80',
  '-a.test',
])('an entry that reads %j is refused', entry => {
  expect(() => createHostList([entry])).toThrow(expect.objectContaining({ code: 'config_invalid' }))
})
