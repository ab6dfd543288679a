import { readFileSync } from 'node:fs'
import { verify, verifyBody } from './webhooks.mjs'

// Each three arguments are a check, a secret and a file with a delivery; each gives one line.
for (let args = process.argv.slice(2); args.length > 0; args = args.slice(3)) {
  const [check, secret, file] = args
  const message = readFileSync(file)
  const end = message.indexOf('\r\n\r\n')
  const lines = message.subarray(0, end).toString('latin1').split('\r\n')
  const headers = Object.fromEntries(lines.map(line => [line.split(': ', 1)[0], line.slice(line.indexOf(': ') + 2)]))
  try {
    const run = check === 'verify' ? verify : verifyBody
    run(message.subarray(end + 4), headers, secret)
    process.stdout.write('authentic\n')
  } catch (error) {
    process.stdout.write(`refused: ${error.message}\n`)
  }
}
