import { expect, test } from 'vitest'
import { givenUrls } from './given-urls.ts'

test('nothing is given by an empty environment or by empty variables', () => {
  const nothing = { urls: {}, parts: [] }
  expect(givenUrls({})).toEqual(nothing)
  expect(
    givenUrls({ KAFKA_BROKERS: '', MONGO_URL: '', SCHEMA_REGISTRY_URL: '', SMTP_URL: '', MAIL_URL: 'http://mail' }),
  ).toEqual(nothing)
})

test('everything can be given', () => {
  const env = {
    KAFKA_BROKERS: 'a:1,b:2',
    MONGO_URL: 'mongodb://c',
    SCHEMA_REGISTRY_URL: 'http://d/',
    SMTP_URL: 'smtp://e',
    MAIL_URL: 'http://f',
  }
  expect(givenUrls(env)).toEqual({
    urls: { kafka: 'a:1,b:2', mongo: 'mongodb://c', registry: 'http://d', smtp: 'smtp://e', mail: 'http://f' },
    parts: ['kafka', 'mongo', 'registry', 'mail'],
  })
})

test('a mail server can be given without a page', () => {
  expect(givenUrls({ SMTP_URL: 'smtp://e' })).toEqual({ urls: { smtp: 'smtp://e', mail: '' }, parts: ['mail'] })
})
