import { ProviderKind } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { describeMeaning } from '../test/meaning-suite.ts'
import { describeProvider } from '../test/provider-suite.ts'
import { SAMPLES } from '../test/samples/index.ts'
import { SIGNERS } from '../test/sign.ts'
import { PROVIDERS } from './registry.ts'

describe('the registry', () => {
  test('has every kind of provider under its own name', () => {
    expect(Object.entries(PROVIDERS).map(([kind, provider]) => [kind, provider.kind])).toEqual(
      ProviderKind.options.map(kind => [kind, kind]),
    )
  })
})

for (const kind of ProviderKind.options) {
  describeProvider(PROVIDERS[kind], SIGNERS[kind])
  describeMeaning(PROVIDERS[kind], SAMPLES[kind])
}
