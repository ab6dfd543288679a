import { expect, test } from 'vitest'
import { csvLine } from './csv.ts'

test.each([
  { name: 'text and numbers', values: ['a', 12, -3, true], line: 'a,12,-3,true' },
  { name: 'null and missing values', values: [null, undefined, ''], line: ',,' },
  { name: 'commas, quotes and line breaks', values: ['a,b', 'say "x"', 'a\r\nb'], line: '"a,b","say ""x""","a\r\nb"' },
  { name: 'lists and objects as JSON', values: [['a'], { b: 1 }], line: '"[""a""]","{""b"":1}"' },
  { name: 'formulas as text', values: ['=1+1', '+1', '-1', '@SUM', '\t=1'], line: "'=1+1,'+1,'-1,'@SUM,'\t=1" },
  { name: 'a formula with a quote', values: ['=HYPERLINK("x")'], line: `"'=HYPERLINK(""x"")"` },
])('writes $name', ({ values, line }) => {
  expect(csvLine(values)).toBe(`${line}\r\n`)
})
