import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { describe, expect, test } from 'vitest'
import { readAdminConfig, settings } from './config.ts'

const example = parseEnv(readFileSync(new URL('../.env.example', import.meta.url), 'utf8')) as Record<string, string>

describe('the settings of admin-api', () => {
  test('are all in .env.example, which has no other settings', () => {
    expect(Object.keys(example).sort()).toEqual(Object.keys(settings).sort())
  })

  test('are valid as .env.example has them, and those with a default are shown with it', () => {
    const required = ['KAFKA_BROKERS', 'MONGO_URL', 'SCHEMA_REGISTRY_URL', 'SECRET_KEYS', 'INGRESS_PUBLIC_URL']
    const least = Object.fromEntries(required.map(name => [name, example[name]]))
    const { OPS_PORT, MONGO_URL, SECRET_KEYS, ...shown } = readAdminConfig(example)
    expect(readAdminConfig(least)).toMatchObject(shown)
    expect([OPS_PORT, `${MONGO_URL}`, SECRET_KEYS.primary]).toEqual([9104, '[secret]', 'example'])
  })

  test('accept any first API key of 32 characters or more, and never show it', () => {
    const chosen = 'k'.repeat(32)
    const { BOOTSTRAP_API_KEY } = readAdminConfig({ ...example, BOOTSTRAP_API_KEY: chosen })
    expect(BOOTSTRAP_API_KEY?.reveal()).toBe(chosen)
    const refusal = 'BOOTSTRAP_API_KEY: Give at least 32 characters'
    expect(() => readAdminConfig({ ...example, BOOTSTRAP_API_KEY: chosen.slice(1) })).toThrow(refusal)
  })

  test('report all invalid settings at once, without secrets', () => {
    const faulty = {
      ...example,
      PORT: 'eighty',
      INGRESS_PUBLIC_URL: 'nowhere',
      SECRET_KEYS: 'k:tooshort',
      MONGO_URL: '',
    }
    expect(() => readAdminConfig(faulty)).toThrow(/4 error/)
    expect(() => readAdminConfig(faulty)).not.toThrow(/tooshort/)
  })
})
