import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { describe, expect, test } from 'vitest'
import { readNotifierConfig, settings } from './config.ts'

const example = parseEnv(readFileSync(new URL('../.env.example', import.meta.url), 'utf8')) as Record<string, string>
const least = Object.fromEntries(
  ['KAFKA_BROKERS', 'MONGO_URL', 'SCHEMA_REGISTRY_URL', 'SECRET_KEYS'].map(name => [name, example[name]]),
)

describe('the settings of the notifier', () => {
  test('are all in .env.example, and nothing else is', () => {
    expect(Object.keys(example).sort()).toEqual(Object.keys(settings).sort())
  })

  test('are valid as .env.example has them, and those with a default are shown with it', () => {
    const { OPS_PORT, MONGO_URL, PUBLIC_URL, API_PUBLIC_URL, SMTP_URL, SMTP_FROM, ...shown } =
      readNotifierConfig(example)
    expect(readNotifierConfig(least)).toMatchObject(shown)
    expect([OPS_PORT, `${MONGO_URL}`, `${SMTP_URL}`]).toEqual([9103, '[secret]', '[secret]'])
    expect([PUBLIC_URL, API_PUBLIC_URL]).toEqual(['https://backstop.example.com', 'https://api.backstop.example.com'])
    expect(SMTP_FROM).toBe('Backstop <alerts@example.com>')
  })

  test('allow no mail server, but not one without a sender', () => {
    expect(readNotifierConfig(least).SMTP_URL).toBeUndefined()
    expect(() => readNotifierConfig({ ...least, SMTP_URL: 'smtp://localhost' })).toThrow('SMTP_FROM: is required')
  })

  test('report every fault at once', () => {
    const faulty = { ...example, PUBLIC_URL: 'nowhere', BRAND_NAME: 'a\nb', SMTP_REQUIRE_TLS: 'perhaps', MONGO_URL: '' }
    expect(() => readNotifierConfig(faulty)).toThrow(/4 error/)
  })
})
