import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { jsx, jsxs } from './jsx-runtime.ts'

test('JSX shows the invisible characters of every text, in children, in lists of children and in titles', () => {
  const row = jsxs('p', {
    title: 'pi_a\u202egpj.exe',
    children: ['On ', 'pi_\u200b1', [jsx('b', { children: 'Anna\u2066' }, 'b'), 'x\u202c'], 7],
  })
  expect(renderToStaticMarkup(row)).toBe(
    '<p title="pi_a&lt;U+202E&gt;gpj.exe">On pi_&lt;U+200B&gt;1<b>Anna&lt;U+2066&gt;</b>x&lt;U+202C&gt;7</p>',
  )
})

test('JSX leaves values, line breaks, names of any script and emoji as they are', () => {
  const field = jsx('input', { defaultValue: 'a\u202eb', placeholder: 'Zoë' })
  const text = jsx('pre', { children: 'a\n\tb שרה 👩‍💻' })
  expect(renderToStaticMarkup(createElement('div', null, field, text))).toBe(
    '<div><input placeholder="Zoë" value="a\u202eb"/><pre>a\n\tb שרה 👩‍💻</pre></div>',
  )
})
