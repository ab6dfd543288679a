import { describe, expect, it } from 'vitest'
import { nameBrowser, nameScopes } from './words.ts'

describe('nameBrowser', () => {
  const chrome = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/147.0.0.0 Safari/537.36'
  it.each([
    [chrome, 'Chrome on Linux'],
    [`${chrome} Edg/147.0`, 'Edge on Linux'],
    ['Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19.0 Safari/604.1', 'Safari on iPhone'],
    ['curl/8.9.1', 'curl'],
    [null, 'Unknown browser'],
    ['', 'Unknown browser'],
  ])('names the browser and the system of %j', (userAgent, name) => {
    expect(nameBrowser(userAgent)).toBe(name)
  })
})

describe('nameScopes', () => {
  it('names scopes in the order of their power', () => {
    expect(nameScopes(['manage', 'read'])).toBe('Read, Manage')
  })
})
