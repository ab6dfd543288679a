import { expect, test } from 'vitest'
import { isPrivateAddress } from './private-address.ts'

test.each([
  'http://127.0.0.1:8080/in/con_1',
  'http://localhost:8080',
  'http://ingress:8080',
  'https://backstop.internal',
  'http://10.1.2.3',
  'http://172.16.0.1',
  'http://192.168.178.20',
  'http://[::1]:8080',
  'http://[fd00::1]',
])('%s is an address that a provider cannot reach', url => {
  expect(isPrivateAddress(url)).toBe(true)
})

test.each([
  'https://in.example.com/x',
  'https://172.32.0.1',
  'https://8.8.8.8',
  'https://[2001:db8::1]',
  'https://10.example.com',
])('%s may be reached', url => {
  expect(isPrivateAddress(url)).toBe(false)
})
