import { expect, test } from 'vitest'
import { baseUrl } from './base-url.ts'

test.each([
  { name: 'an address alone', given: 'https://api.example.com', version: '/v1', is: 'https://api.example.com/v1' },
  { name: 'a slash at its end', given: 'https://api.example.com/', version: '/v1', is: 'https://api.example.com/v1' },
  { name: 'the version within', given: 'https://api.example.com/v1', version: '/v1', is: 'https://api.example.com/v1' },
  { name: 'both', given: 'https://api.example.com/v1/', version: '/v1', is: 'https://api.example.com/v1' },
  { name: 'a path before', given: 'https://example.com/p', version: '/api/v2', is: 'https://example.com/p/api/v2' },
  { name: 'an API without version', given: 'https://api.example.com//', version: '', is: 'https://api.example.com' },
])('api_base with $name', ({ given, version, is }) => {
  expect(baseUrl(given, version)).toBe(is)
})
