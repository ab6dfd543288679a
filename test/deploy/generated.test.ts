import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { generatedFiles } from '../../scripts/manifests/generated-files.ts'

test.each([...generatedFiles()])('%s is as `npm run manifests` writes it', (path, text) => {
  expect(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')).toBe(text)
})

test('External Secrets creates the keys of the example', () => {
  const read = (path: string) => readFileSync(new URL(`../../deploy/k8s/${path}`, import.meta.url), 'utf8')
  const wanted = [...read('overlays/production/secrets.example.env').matchAll(/^([A-Z_]+)=/gm)].map(([, key]) => key)
  const created = read('components/external-secrets/secrets.externalsecret.yaml').matchAll(/secretKey: (\w+)/g)
  expect([...created].map(([, key]) => key)).toEqual(wanted)
})
