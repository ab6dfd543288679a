import { expect, test } from 'vitest'
import { csvLine } from './csv.ts'

test.each([
  { name: 'text and numbers', values: ['a', 12, -3, true], line: 'a,12,-3,true' },
  { name: 'null and missing values', values: [null, undefined, ''], line: ',,' },
  { name: 'commas, quotes and line breaks', values: ['a,b', 'say "x"', 'a\r\nb'], line: '"a,b","say ""x""","a\r\nb"' },
  { name: 'lists and objects as JSON', values: [['a'], { b: 1 }], line: '"[""a""]","{""b"":1}"' },
  { name: 'formulas as text', values: ['=1+1', '+1', '-1', '@SUM', '\t=1'], line: "'=1+1,'+1,'-1,'@SUM,'\t'=1" },
  {
    name: 'formulas after a line break, NUL, invisible characters, or in full width as text',
    values: ['\n=1+1', '\0=1', '\ufeff=1', '\u200b@SUM', ' -1', '＝1', '＋1', '－1', '＠SUM'],
    line: "\"'\n'=1+1\",'\0=1,'\ufeff=1,'\u200b@SUM,' -1,'＝1,'＋1,'－1,'＠SUM",
  },
  {
    name: 'formulas after a separator of another country as text',
    values: ['a;=1', 'a\t=1', 'a\n\n+1', { note: 'a;=1' }, 'a; b', 'a-1', -1],
    line: `a;'=1,a\t'=1,"a\n\n'+1","{""note"":""a;'=1""}",a; b,a-1,-1`,
  },
  { name: 'a formula with a quote', values: ['=HYPERLINK("x")'], line: `"'=HYPERLINK(""x"")"` },
])('writes $name', ({ values, line }) => {
  expect(csvLine(values)).toBe(`${line}\r\n`)
})
