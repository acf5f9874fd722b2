import jsxA11y from 'eslint-plugin-jsx-a11y'
import hooks from 'eslint-plugin-react-hooks'
import tseslint from 'typescript-eslint'

// Text of modules is hostile: it is never HTML.
const noHTML = [
  { selector: 'JSXAttribute[name.name="dangerouslySetInnerHTML"]', message: 'text is text: no HTML from data' },
  { selector: 'MemberExpression[property.name=/^(innerHTML|outerHTML)$/]', message: 'text is text: no HTML from data' },
]

// Words that users read are in src/messages.ts and nowhere else: what looks like a sentence, and whatever stands where a page shows text.
const attributes = 'aria-label|label|title|description|placeholder|lead|means|help|empty|verb|data-label|alt|nothingFoundMessage'
const shown = `JSXAttribute[name.name=/^(${attributes})$/]`
const code =
  'JSXAttribute[name.name=/^(className|rel)$/] *, Property[key.name="className"] *, NewExpression[callee.name="Error"] *, TSLiteralType *'
const word = '[value=/[A-Za-z]{2}/]'
const noWords = [
  `JSXText${word}`,
  `${shown} > Literal${word}`,
  `${shown} > JSXExpressionContainer > :matches(Literal, ConditionalExpression > Literal, LogicalExpression > Literal)${word}`,
  `:matches(JSXElement, JSXFragment) > JSXExpressionContainer > :matches(ConditionalExpression, LogicalExpression) > Literal${word}`,
  `Property[key.name=/^(label|title|means|many)$/] > Literal${word}`,
  `Literal[value=/[A-Za-z]{2,}[,.:]? [A-Za-z]/]:not(${code})`,
  `TemplateElement[value.raw=/[A-Za-z]{2,} [A-Za-z]|[a-z]{2} $|^ [A-Za-z]{2}/]:not(${code})`,
].map((selector) => ({ selector, message: 'words for users are in src/messages.ts' }))

export default tseslint.config(
  { ignores: ['node_modules/**', 'dist/**', 'tools/**', 'src/apischema.d.ts'] },
  ...tseslint.configs.strict,
  {
    files: ['**/*.{ts,tsx}'],
    plugins: { 'jsx-a11y': jsxA11y, 'react-hooks': hooks },
    languageOptions: { parserOptions: { ecmaFeatures: { jsx: true } } },
    rules: {
      ...jsxA11y.flatConfigs.strict.rules,
      'react-hooks/rules-of-hooks': 'error',
      'react-hooks/exhaustive-deps': 'error',
      'max-len': ['error', { code: 140, ignoreUrls: true }],
      'max-lines': ['error', 400],
      'max-lines-per-function': ['error', { max: 90, skipComments: true, skipBlankLines: true }],
      complexity: ['error', 20],
      'no-restricted-syntax': ['error', ...noHTML],
      'no-eval': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
    },
  },
  {
    files: ['src/**/*.{ts,tsx}'],
    // Styles and commands are no words.
    ignores: [
      'src/app/theme.ts',
      'src/explorer/kubectl.ts',
      'src/yaml/Editor.tsx',
      'src/messages.ts',
      'src/test*',
      'src/**/*.test.{ts,tsx}',
    ],
    rules: { 'no-restricted-syntax': ['error', ...noHTML, ...noWords] },
  },
  { files: ['src/messages.ts'], rules: { 'max-lines': 'off', 'max-len': 'off' } },
  { files: ['**/*.test.{ts,tsx}', 'mock/**'], rules: { 'max-lines-per-function': 'off', complexity: 'off' } },
)
